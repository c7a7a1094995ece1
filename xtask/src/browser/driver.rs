//! A browser, driven through its `WebDriver`: plain HTTP and JSON.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use ureq::Agent;

/// Only a hang reaches it.
const LONG: Duration = Duration::from_mins(2);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A Chromium with its driver; ended when dropped.
pub(super) struct Browser {
    driver: Child,
    agent: Agent,
    session: String,
}

impl Browser {
    /// Starts one, with a profile in this folder.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("chromedriver: apt-get install chromium chromium-driver")?;
        let said = driver.stdout.take().context("no output")?;
        let mut lines = BufReader::new(said).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let port = line.rsplit_once("on port ")?.1.trim_end_matches('.').parse::<u16>().ok()?;
            // It names first what it was asked for.
            (port != 0).then_some(port)
        });
        let Some(port) = port else {
            driver.kill().ok();
            driver.wait().ok();
            bail!("chromedriver names no port");
        };
        // What it prints later is not read, and must not hold it up.
        thread::spawn(move || lines.for_each(drop));
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let base = format!("http://127.0.0.1:{port}");
        let mut this = Self { driver, agent, session: base };
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            &profile,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": "/usr/bin/chromium", "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = this.post("/session", &wanted)?;
        let id =
            session.pointer("/sessionId").and_then(Value::as_str).context("no session")?.to_owned();
        this.session = format!("{}/session/{id}", this.session);
        // A loaded machine is slow, not broken.
        let long = LONG.as_millis();
        this.post("/timeouts", &json!({ "script": long, "pageLoad": long }))?;
        Ok(this)
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let url = format!("{}{path}", self.session);
        let sent = self.agent.post(&url).content_type("application/json").send(body.to_string());
        Self::read(sent?)
    }

    fn get(&self, path: &str) -> Result<Value> {
        Self::read(self.agent.get(format!("{}{path}", self.session)).call()?)
    }

    fn read(mut response: ureq::http::Response<ureq::Body>) -> Result<Value> {
        let text = response.body_mut().with_config().limit(50 << 20).read_to_string()?;
        let mut value: Value = serde_json::from_str(&text)?;
        if let Some(error) = value.pointer("/value/error").and_then(Value::as_str) {
            let message = value.pointer("/value/message").and_then(Value::as_str);
            bail!("{error}: {}", message.unwrap_or(""));
        }
        Ok(value.pointer_mut("/value").map(Value::take).unwrap_or_default())
    }

    pub(super) fn go(&self, url: &str) -> Result<()> {
        self.post("/url", &json!({ "url": url })).map(drop)
    }

    pub(super) fn run(&self, script: &str) -> Result<Value> {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    pub(super) fn run_async(&self, script: &str) -> Result<Value> {
        self.post("/execute/async", &json!({ "script": script, "args": [] }))
    }

    pub(super) fn text(&self, selector: &str) -> Result<String> {
        let found =
            self.run(&format!("return document.querySelector({selector:?})?.textContent"))?;
        Ok(found.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until something holds in the page.
    #[expect(clippy::disallowed_methods, reason = "a chore may look at the clock")]
    pub(super) fn until(&self, what: &str, holds: &str) -> Result<()> {
        let begun = Instant::now();
        while self.run(&format!("return Boolean({holds})"))? != json!(true) {
            if begun.elapsed() > LONG {
                let page = self.run("return document.body.innerText")?;
                bail!("{what} did not come; the page says:\n{}", page.as_str().unwrap_or_default());
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// So wide, and light or dark.
    pub(super) fn look(&self, width: u32, look: &str) -> Result<()> {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        let cdp = |cmd: &str, params: Value| {
            self.post("/goog/cdp/execute", &json!({ "cmd": cmd, "params": params })).map(drop)
        };
        cdp("Emulation.setDeviceMetricsOverride", metrics)?;
        let features = json!([{ "name": "prefers-color-scheme", "value": look }]);
        cdp("Emulation.setEmulatedMedia", json!({ "features": features }))
    }

    /// The page as a PNG.
    pub(super) fn picture(&self) -> Result<Vec<u8>> {
        let text = self.get("/screenshot")?;
        unpacked(text.as_str().context("no picture")?)
    }

    /// What the console complained of.
    pub(super) fn faults(&self) -> Result<Vec<String>> {
        let log = self.post("/se/log", &json!({ "type": "browser" }))?;
        let lines = log.as_array().cloned().unwrap_or_default();
        let bad = lines.iter().filter(|line| line["level"] == "SEVERE");
        Ok(bad.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect())
    }

    pub(super) fn tab(&self) -> Result<String> {
        Ok(self.get("/window")?.as_str().context("no tab")?.to_owned())
    }

    /// One more tab, in front.
    pub(super) fn new_tab(&self) -> Result<String> {
        let made = self.post("/window/new", &json!({ "type": "tab" }))?;
        let tab = made.pointer("/handle").and_then(Value::as_str).context("no tab")?.to_owned();
        self.to_tab(&tab)?;
        Ok(tab)
    }

    pub(super) fn to_tab(&self, tab: &str) -> Result<()> {
        self.post("/window", &json!({ "handle": tab })).map(drop)
    }

    pub(super) fn close_tab(&self) -> Result<()> {
        Self::read(self.agent.delete(format!("{}/window", self.session)).call()?).map(drop)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.agent.delete(&self.session).call().ok();
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

/// Bytes of their base64.
fn unpacked(text: &str) -> Result<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::with_capacity(text.len()));
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let Some(six) = value(byte) else { bail!("no picture") };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff)?);
        }
    }
    Ok(bytes)
}
