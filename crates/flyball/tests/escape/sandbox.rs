//! The profiles: what protects the user from the agent.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::thread;

use crate::house::{House, User};

/// A home with secrets in it, and sockets somebody listens at.
fn with_secrets(user: User) -> House {
    let house = House::new(user);
    for name in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".kube/config",
        ".docker/config.json",
        ".netrc",
        ".npmrc",
        ".gnupg/private",
        ".codex/auth.json",
    ] {
        house.file(&format!("home/{name}"), "secret\n");
    }
    for folder in ["home/.cache", "home/other/.git/hooks", "system", "runtime"] {
        fs::create_dir_all(house.path(folder)).unwrap();
    }
    let (system, runtime) = (house.text("system"), house.text("runtime"));
    house.settle();
    house
        .env("FLYBALL_TEST_SYSTEM", system)
        .env("FLYBALL_TEST_RUNTIME", runtime.clone())
        .env("XDG_RUNTIME_DIR", runtime)
        .env("GITHUB_TOKEN", "secret")
        .env("AWS_PROFILE", "secret")
}

type Found = BTreeMap<u32, (bool, String)>;

#[track_caller]
fn all_through(found: &Found) {
    let refused: Vec<_> = found.values().filter(|(through, _)| !through).collect();
    assert!(refused.is_empty(), "refused without a sandbox: {refused:#?}");
}

#[track_caller]
fn none_through(found: &Found) {
    let through: Vec<_> = found.values().filter(|(through, _)| *through).collect();
    assert!(through.is_empty(), "through in a sandbox: {through:#?}");
}

#[test]
fn a_workspace_hides_secrets_and_keeps_the_rest_as_it_is() {
    for user in User::all() {
        let house = with_secrets(user);
        let _bus = UnixListener::bind(house.path("runtime/bus")).unwrap();
        for name in ["runtime/systemd", "system/crontabs", "system/atjobs"] {
            fs::create_dir_all(house.path(name)).unwrap();
        }
        let _manager = UnixListener::bind(house.path("runtime/systemd/private")).unwrap();
        house.settle();
        all_through(&house.attempts(&[], "workspace"));
        let planted = [
            "home/.bashrc",
            "system/planted",
            "system/crontabs/user",
            "system/atjobs/a",
            "home/.config/systemd/user/planted.service",
        ];
        for name in planted {
            fs::remove_file(house.path(name)).ok();
        }
        if house.falls_back() {
            return;
        }
        none_through(&house.attempts(&["--sandbox", "workspace"], "workspace"));
        // The state folder holds as it does behind the shield alone.
        let found = house.attempts(&["--sandbox", "workspace"], "state");
        none_through(&found);
        assert!(house.said().contains("sandbox: workspace ("), "{}", house.said());
        // The same with the kernel's own list on top, where nobody needs namespaces.
        let house = house.env("FLYBALL_SANDBOX__NESTED", "false");
        none_through(&house.attempts(&["--sandbox", "workspace"], "workspace"));
    }
}

#[test]
fn what_is_shown_kept_or_hidden_by_the_settings_is_so() {
    let house = with_secrets(User::Own);
    if house.falls_back() {
        return;
    }
    let work = house.text("work");
    house.file("work/mine", "secret\n");
    let house = house
        .env("FLYBALL_SANDBOX__SHOW", "[\"~/.npmrc\"]")
        .env("FLYBALL_SANDBOX__KEEP_ENV", "[\"GITHUB_TOKEN\"]")
        .env("FLYBALL_SANDBOX__HIDE", format!("[\"{work}/mine\"]"))
        .env("FLYBALL_SANDBOX__WRITE", "[\"~/other\"]");
    let script = "cat ~/.npmrc; cat $FLYBALL_TEST_WORK/mine; echo [$GITHUB_TOKEN]; touch ~/other/x";
    let played = house.play_with(&["--sandbox", "workspace"], &["sh", "-c", script]);
    assert_eq!(played.log.matches("secret").count(), 2, "{}", played.log);
    assert!(played.log.contains("[secret]"), "{}", played.log);
    assert!(house.path("home/other/x").exists());
}

/// Somebody who answers on this machine: a web server, datagrams, and an abstract socket.
struct Machine {
    port: u16,
    datagrams: u16,
    name: String,
    _listener: UnixListener,
}

#[expect(clippy::unused_io_amount, reason = "whatever comes first")]
fn machine() -> Machine {
    let web = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = web.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in web.incoming().flatten() {
            thread::spawn(move || {
                stream.read(&mut [0; 4096]).ok();
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                stream.write_all(head.as_bytes()).ok();
            });
        }
    });
    let echo = UdpSocket::bind("127.0.0.1:0").unwrap();
    let datagrams = echo.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut bytes = [0; 16];
        while let Ok((count, from)) = echo.recv_from(&mut bytes) {
            echo.send_to(&bytes[..count], from).ok();
        }
    });
    let name = format!("flyball-escape-{}-{port}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    Machine { port, datagrams, name, _listener: UnixListener::bind_addr(&address).unwrap() }
}

fn offline_house(user: User, machine: &Machine) -> House {
    let house = with_secrets(user);
    let other = house.text("other-proxy.sock");
    house
        .env("FLYBALL_TEST_PORT", machine.port.to_string())
        .env("FLYBALL_TEST_DATAGRAMS", machine.datagrams.to_string())
        .env("FLYBALL_TEST_ABSTRACT", machine.name.clone())
        .env("FLYBALL_TEST_OTHER", other)
}

#[test]
fn without_a_network_only_listed_hosts_are_reached() {
    let machine = machine();
    for user in User::all() {
        let house = offline_house(user, &machine)
            .env("FLYBALL_SANDBOX__ALLOW_HOSTS", "[\"allowed.example\", \"localhost:1\"]");
        let _bus = UnixListener::bind(house.path("runtime/bus")).unwrap();
        let _other = UnixListener::bind(house.path("other-proxy.sock")).unwrap();
        house.settle();
        // What a proxy refuses nobody refuses without one; its own socket answers nobody here.
        let mut without = house.attempts(&[], "offline");
        without.remove(&60);
        all_through(&without);
        if house.falls_back() {
            return;
        }
        let mut with = house.attempts(&["--sandbox", "offline"], "offline");
        // A socket that listens and never answers is silence, not an answer.
        with.remove(&60);
        none_through(&with);
        let text = "flyball: evil.example is not on the list of allowed hosts";
        assert!(with[&51].1.contains(text), "{with:#?}");
        assert!(with[&59].1.contains("names two hosts"), "{with:#?}");
    }
}

#[test]
fn the_proxy_of_one_run_is_of_no_use_to_another() {
    let house = with_secrets(User::Own);
    if house.falls_back() {
        return;
    }
    let script = "echo $FLYBALL_RUN > run; while [ ! -e go ]; do sleep 0.05; done";
    let mut command = house.flyball(&["run", "--once", "--trust-claims", "--sandbox", "offline"]);
    let mut child = command.args(["--", "sh", "-c", script]).spawn().unwrap();
    let run = house.path("repo/run");
    crate::house::until("it works", || fs::read_to_string(&run).is_ok_and(|t| t.ends_with('\n')));
    let run = fs::read_to_string(run).unwrap();
    let socket = house.state().join("runs").join(run.trim()).join("proxy.sock");
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    stream.write_all(b"CONNECT allowed.example:443 HTTP/1.1\r\n\r\n").ok();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok();
    fs::write(house.path("repo/go"), "").unwrap();
    child.wait().unwrap();
    assert_eq!(answer, "", "nobody from outside is answered");
}

#[test]
fn allowed_hosts_and_single_ports_are_reached_and_refusals_are_told_once() {
    let machine = machine();
    let house = offline_house(User::Own, &machine);
    if house.falls_back() {
        return;
    }
    let house = house
        .env("FLYBALL_SANDBOX__ALLOW_HOSTS", format!("[\"127.0.0.1:{}\"]", machine.port))
        .env("FLYBALL_SANDBOX__LOOPBACK", format!("[{}]", machine.port))
        .env("FLYBALL_LIMITS__STUCK", "9");
    let script = r#"
cat > prompt-$FLYBALL_ITERATION
python3 - <<'P'
import os, socket, urllib.request
port = os.environ["FLYBALL_TEST_PORT"]
line = socket.create_connection(("127.0.0.1", int(port)), 10)
line.sendall(b"GET / HTTP/1.0\r\n\r\n")
print("direct", b"hello" in line.recv(4096))
proxy = urllib.request.ProxyHandler({"http": os.environ["http_proxy"]})
opener = urllib.request.build_opener(proxy)
print("proxied", opener.open(f"http://127.0.0.1:{port}/").read())
try:
    opener.open("http://evil.example/")
except urllib.error.HTTPError as error:
    print("refused", error.code, error.read().decode().strip())
P
"#;
    let flags = ["--sandbox", "offline", "--max-iterations", "3"];
    let mut command = house.flyball(&["run", "--trust-claims"]);
    let output = command.args(flags).args(["--", "sh", "-c", script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let log = fs::read_to_string(house.path("repo/.flyball/logs/iteration-001.log")).unwrap();
    assert!(log.contains("direct True") && log.contains("proxied b'hello'"), "{log}\n{said}");
    let refusal = "flyball: evil.example is not on the list of allowed hosts (sandbox.allow_hosts)";
    assert!(log.contains(&format!("refused 403 {refusal}")), "{log}");
    let briefed = |number: u32| {
        let prompt = fs::read_to_string(house.path(&format!("repo/prompt-{number}"))).unwrap();
        prompt.contains(refusal)
    };
    assert_eq!([1, 2, 3].map(briefed), [false, true, false], "{said}");
}

#[test]
fn a_project_may_only_tighten() {
    let house = House::new(User::Own);
    for (text, code) in [
        ("shield = \"off\"", 78),
        ("shield = \"require\"", 0),
        ("profile = \"workspace\"", 0),
        ("hide = [\"/etc/hostname\"]", 0),
        ("write = [\"~\"]", 78),
        ("write = []", 0),
        ("show = [\"~/.ssh\"]", 78),
        ("allow_hosts = [\"evil.example\"]", 78),
        ("loopback = [22]", 78),
        ("keep_env = [\"A_TOKEN\"]", 78),
        ("nested = false", 0),
    ] {
        house.file("repo/flyball.toml", &format!("[sandbox]\n{text}\n"));
        let output = house.flyball(&["config"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}: {said}");
        assert!(code == 0 || said.contains("may only tighten it"), "{text}: {said}");
    }
    // A user's own choice cannot be taken back by the project, and what is hidden adds up.
    house.file(
        "home/.config/flyball/config.toml",
        "[sandbox]\nprofile = \"offline\"\nhide = [\"/a\"]\n",
    );
    house.file("repo/flyball.toml", "[sandbox]\nprofile = \"workspace\"\n");
    assert_eq!(house.flyball(&["config"]).output().unwrap().status.code(), Some(78));
    house.file("repo/flyball.toml", "[sandbox]\nhide = [\"/b\"]\n");
    let output = house.flyball(&["config"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("hide = [\"/a\", \"/b\"]"));
}
