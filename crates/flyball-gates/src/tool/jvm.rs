//! Java stack traces.

use crate::text;

/// Class, file and line of `at shop.CartTest.raises(CartTest.java:17)`.
pub(super) struct Frame<'a> {
    pub(super) class: &'a str,
    pub(super) file: &'a str,
    pub(super) line: u32,
}

/// The frame in a line.
pub(super) fn frame(line: &str) -> Option<Frame<'_>> {
    let rest = line.trim_start().strip_prefix("at ")?;
    let (call, place) = rest.split_once('(')?;
    let (file, at) = place.split_once(':')?;
    let (line, _) = text::small(at)?;
    let call = call.rsplit('/').next()?;
    let (class, _) = call.rsplit_once('.')?;
    Some(Frame { class, file, line })
}

/// The place of a failure of a test of `class`: its own frame, else the first that is nobody's
/// library.
pub(super) fn own_frame<'a>(trace: &'a str, class: &str) -> Option<Frame<'a>> {
    const LIBRARIES: &[&str] = &[
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "com.sun.",
        "org.junit.",
        "junit.",
        "org.opentest4j.",
        "org.hamcrest.",
        "org.assertj.",
        "org.mockito.",
        "org.testng.",
        "kotlin.",
        "groovy.",
        "org.gradle.",
        "org.apache.maven.",
    ];
    let frames = || trace.lines().filter_map(frame);
    frames()
        .find(|frame| !class.is_empty() && frame.class.split('$').next() == Some(class))
        .or_else(|| frames().find(|f| !LIBRARIES.iter().any(|start| f.class.starts_with(start))))
}

/// The lines of a trace before its first frame.
pub(super) fn message(trace: &str) -> String {
    let kept: Vec<&str> = trace
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with("at ") && !line.starts_with("Caused by: ")
        })
        .take(15)
        .collect();
    kept.join("\n").trim().to_owned()
}
