//! Drives Chromium through chromedriver, with actions that a person does on a page.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
    time::Duration,
};

use serde_json::{Value, json};
use seven_staff::factor::Factor;
use thirtyfour::{
    ChromiumLikeCapabilities, DesiredCapabilities, Key, TypingData, WebDriver, prelude::*,
};
use tokio::time::{Instant, sleep};

use crate::{
    console::staff::{Caller, PASSWORD},
    harness::House,
};

const AXE: &str = include_str!("../../kit/axe/axe.min.js");
const PATIENCE: Duration = Duration::from_secs(20);
/// Script that records violations of a page's content security policy; it runs before the page's
/// own scripts.
const WATCH: &str = "window.__refused = JSON.parse(sessionStorage.getItem('refused') || '[]');\
    document.addEventListener('securitypolicyviolation', (e) => { window.__refused.push(\
    e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ' ' + location.pathname);\
    sessionStorage.setItem('refused', JSON.stringify(window.__refused)); });";
const PHONE_WIDTH: u32 = 380;
const DESK_WIDTH: u32 = 1280;

pub(super) struct Browser {
    driver: WebDriver,
    process: Mutex<Child>,
    /// The folder of the browser's profile. Every process of the browser has this path among its
    /// arguments.
    profile: PathBuf,
    base: String,
}

impl Drop for Browser {
    /// Ends chromedriver and the browser, even after a failed test. If only chromedriver were
    /// killed, the browser would go on running. Deletes the profile, which takes some MB.
    fn drop(&mut self) {
        if let Ok(process) = self.process.get_mut() {
            process.kill().ok();
            process.wait().ok();
        }
        let profile = self.profile.to_string_lossy();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes {
            let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&arguments).contains(&*profile) {
                let pid = process.file_name();
                Command::new("/bin/sh")
                    .args(["-c", "kill -KILL \"$0\""])
                    .arg(pid)
                    .stderr(Stdio::null())
                    .status()
                    .ok();
            }
        }
        std::fs::remove_dir_all(&self.profile).ok();
    }
}

/// A person whose account, with a second factor, was set up in the browser.
pub(super) struct SetUp {
    email: String,
    factor: Factor,
    step: u64,
}

fn now() -> u64 {
    u64::try_from(chrono::Utc::now().timestamp()).unwrap()
}

impl Browser {
    /// Starts a browser that resolves paths against the console's address.
    pub(super) async fn start(house: &House) -> Self {
        Self::start_at(house.stack.console_url.as_ref().unwrap()).await
    }

    /// Starts a browser that resolves paths against this address.
    pub(super) async fn start_at(base: &str) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is not installed; ./scripts/test --browser installs it");
        let profile = std::env::temp_dir().join(format!("seven-browser-{port}"));
        let mut wanted = DesiredCapabilities::chrome();
        for flag in [
            "headless=new",
            "no-sandbox",
            "disable-gpu",
            "disable-quic",
            "disable-background-networking",
            "disable-component-update",
            "disable-sync",
            "disable-dev-shm-usage",
            &format!("user-data-dir={}", profile.display()),
        ] {
            wanted.add_arg(&format!("--{flag}")).unwrap();
        }
        let until = Instant::now() + Duration::from_secs(60);
        let driver = loop {
            match WebDriver::new(format!("http://127.0.0.1:{port}"), wanted.clone()).await {
                Ok(driver) => break driver,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            sleep(Duration::from_millis(200)).await;
        };
        let browser = Self {
            driver,
            process: Mutex::new(process),
            profile,
            base: base.to_owned(),
        };
        let watch = json!({ "source": WATCH });
        browser
            .cdp("Page.addScriptToEvaluateOnNewDocument", watch)
            .await;
        browser.width(DESK_WIDTH).await;
        browser
    }

    pub(super) async fn stop(self) {
        self.driver.clone().quit().await.unwrap();
    }

    async fn cdp(&self, command: &str, parameters: Value) {
        self.driver
            .cdp()
            .send_raw(command, parameters)
            .await
            .unwrap();
    }

    async fn width(&self, width: u32) {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.cdp("Emulation.setDeviceMetricsOverride", metrics)
            .await;
    }

    /// Sets the language that the browser asks for.
    pub(super) async fn prefer(&self, language: &str) {
        self.cdp("Network.enable", json!({})).await;
        let headers = json!({ "headers": { "Accept-Language": language } });
        self.cdp("Network.setExtraHTTPHeaders", headers).await;
    }

    pub(super) async fn page(&self, path: &str) {
        self.driver
            .goto(format!("{}{path}", self.base))
            .await
            .unwrap();
    }

    /// Runs a script in the page and returns its result.
    pub(super) async fn ask(&self, script: &str) -> Value {
        let answer = self.driver.execute(script, vec![]).await.unwrap();
        answer.json().clone()
    }

    /// Cuts the page off the network, or connects it again.
    pub(super) async fn offline(&self, offline: bool) {
        self.cdp("Network.enable", json!({})).await;
        let conditions = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.cdp("Network.emulateNetworkConditions", conditions)
            .await;
    }

    /// Emulates a preference of the guest's system. `feature` is a CSS media feature, such as
    /// `prefers-color-scheme`.
    pub(super) async fn prefers(&self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.cdp("Emulation.setEmulatedMedia", features).await;
    }

    /// Opens a page in a new tab and switches to that tab.
    pub(super) async fn new_tab(&self, path: &str) {
        let tab = self.driver.new_tab().await.unwrap();
        self.driver.switch_to_window(tab).await.unwrap();
        self.page(path).await;
    }

    /// Brings a tab to the front, by its number.
    pub(super) async fn tab(&self, number: usize) {
        let tabs = self.driver.windows().await.unwrap();
        self.driver
            .switch_to_window(tabs[number].clone())
            .await
            .unwrap();
    }

    pub(super) async fn forget(&self) {
        self.driver.delete_all_cookies().await.unwrap();
    }

    /// Deletes all cookies of the browser, and then opens a page of the console as this person.
    pub(super) async fn open_as(&self, caller: &Caller, path: &str) {
        self.page("/login").await;
        self.forget().await;
        self.take_cookie(caller.cookie.as_deref().unwrap()).await;
        self.page(path).await;
    }

    /// Sets the cookie of a session that was started outside the browser. `pair` is `name=value`.
    pub(super) async fn take_cookie(&self, pair: &str) {
        let (name, value) = pair.split_once('=').unwrap();
        let mut cookie = Cookie::new(name, value);
        cookie.set_path("/");
        self.driver.add_cookie(cookie).await.unwrap();
    }

    async fn find(&self, css: &str) -> WebElement {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.driver.find(By::Css(css)).await {
                Ok(found) => return found,
                Err(error) => assert!(Instant::now() < until, "{css}: {error}"),
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the element's text. If the page replaces the element meanwhile, reads the new
    /// element.
    pub(super) async fn text(&self, css: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.find(css).await.text().await {
                Ok(text) => return text,
                Err(error) => assert!(Instant::now() < until, "{css}: {error}"),
            }
        }
    }

    pub(super) async fn title(&self) -> String {
        self.driver.title().await.unwrap()
    }

    pub(super) async fn count(&self, css: &str) -> usize {
        self.driver.find_all(By::Css(css)).await.unwrap().len()
    }

    /// Waits until this part of the page shows the words.
    pub(super) async fn see(&self, css: &str, words: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            // The element may be replaced while it is read.
            let shown = match self.driver.find(By::Css(css)).await {
                Ok(found) => found.text().await.unwrap_or_default(),
                Err(_) => String::new(),
            };
            if shown.contains(words) {
                return;
            }
            if Instant::now() > until {
                let body = self.text("body").await;
                panic!("{css} does not show {words:?} but {shown:?}; the page: {body}");
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    pub(super) async fn fill(&self, id: &str, words: &str) {
        let field = self.find(&format!("#{id}")).await;
        field.clear().await.unwrap();
        field.send_keys(words).await.unwrap();
    }

    pub(super) async fn value(&self, id: &str) -> String {
        let field = self.find(&format!("#{id}")).await;
        field.prop("value").await.unwrap().unwrap_or_default()
    }

    /// Clicks an element that changes only a part of the page.
    pub(super) async fn click(&self, css: &str) {
        let until = Instant::now() + PATIENCE;
        while let Err(error) = self.find(css).await.click().await {
            assert!(Instant::now() < until, "{css}: {error}");
        }
    }

    /// Clicks an element that leads to another page, and waits for that page.
    pub(super) async fn submit(&self, css: &str) {
        let mark = "window.__old = true";
        self.driver.execute(mark, vec![]).await.unwrap();
        self.find(css).await.click().await.unwrap();
        self.is_new().await;
    }

    async fn is_new(&self) {
        let until = Instant::now() + PATIENCE;
        let asked = "return window.__old !== true && document.readyState === 'complete'";
        loop {
            let new = match self.driver.execute(asked, vec![]).await {
                Ok(answer) => answer.json() == &json!(true),
                Err(_) => false,
            };
            if new {
                return;
            }
            assert!(Instant::now() < until, "no other page came");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Follows an invitation's link. Enters the password and the code of the second factor on the
    /// page.
    pub(super) async fn set_up(&self, link: &str, email: &str) -> SetUp {
        self.page(link).await;
        let spelled = self.text("#key").await.replace(' ', "");
        let factor = Factor::read(&base32(&spelled)).unwrap();
        let step = now() / 30;
        self.fill("password", PASSWORD).await;
        self.fill("code", &factor.code_at(step * 30)).await;
        self.submit("#main form button").await;
        self.see("#main", "Saved.").await;
        SetUp {
            email: email.to_owned(),
            factor,
            step,
        }
    }

    /// Presses Tab until this element has the focus.
    pub(super) async fn tab_to(&self, css: &str) {
        for _ in 0..60 {
            self.press(Key::Tab).await;
            let asked =
                "return document.activeElement && document.activeElement.matches(arguments[0])";
            let there = self.driver.execute(asked, vec![json!(css)]).await.unwrap();
            if there.json() == &json!(true) {
                return;
            }
        }
        panic!("Tab never reaches {css}");
    }

    pub(super) async fn type_keys(&self, words: &str) {
        self.press(words).await;
    }

    pub(super) async fn enter(&self) {
        self.press(Key::Enter).await;
    }

    async fn press(&self, keys: impl Into<TypingData>) {
        let chain = self.driver.action_chain().send_keys(keys);
        chain.perform().await.unwrap();
    }

    /// Returns all violations of the pages' content security policy since the browser was started.
    pub(super) async fn violations(&self) -> Vec<String> {
        let asked = "return JSON.parse(sessionStorage.getItem('refused') || '[]')";
        let found = self.driver.execute(asked, vec![]).await.unwrap();
        serde_json::from_value(found.json().clone()).unwrap()
    }

    /// Checks the page with axe-core at three widths: a desktop screen, a phone, and a desktop
    /// screen at 200 % zoom. Also checks that nobody has to scroll sideways. Writes screenshots if
    /// `SEVEN_SCREENSHOTS` names a folder.
    pub(super) async fn is_accessible(&self, name: &str) {
        for width in [DESK_WIDTH, PHONE_WIDTH, DESK_WIDTH / 2] {
            self.width(width).await;
            let run = format!(
                "{AXE}; const done = arguments[arguments.length - 1]; axe.run().then((found) => done(\
                 found.violations.map((one) => one.id + ': ' + one.nodes.map((n) => n.html).join(' '))))"
            );
            let found = self.driver.execute_async(run, vec![]).await.unwrap();
            assert_eq!(found.json(), &json!([]), "{name} at {width}");
            let asked = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            let over = self.driver.execute(asked, vec![]).await.unwrap();
            assert_eq!(over.json(), &json!(0), "{name} at {width} is too wide");
            if let Some(folder) = std::env::var_os("SEVEN_SCREENSHOTS")
                && width != DESK_WIDTH / 2
            {
                let size = if width == PHONE_WIDTH {
                    "phone"
                } else {
                    "desk"
                };
                let file = Path::new(&folder).join(format!("{name}-{size}.png"));
                self.driver.screenshot(&file).await.unwrap();
            }
        }
        self.width(DESK_WIDTH).await;
    }
}

impl SetUp {
    pub(super) async fn log_in(&mut self, browser: &Browser) {
        browser.page("/login").await;
        browser.fill("email", &self.email).await;
        browser.fill("password", PASSWORD).await;
        browser.submit("#main form button").await;
        // The set-up used the code of the current 30-second step, and no code is accepted twice.
        // The console also accepts the code of the next step.
        self.step += 1;
        browser
            .fill("code", &self.factor.code_at(self.step * 30))
            .await;
        browser.submit("#main form button").await;
    }
}

/// Decodes base32 (RFC 4648), as an authenticator app does. Bits at the end that do not fill a byte
/// are dropped.
fn base32(text: &str) -> Vec<u8> {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits: String = text
        .chars()
        .map(|c| format!("{:05b}", alphabet.find(c).unwrap()))
        .collect();
    bits.as_bytes()
        .chunks_exact(8)
        .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
        .collect()
}
