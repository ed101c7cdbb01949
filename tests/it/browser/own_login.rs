//! A login through the casino's own login provider. For the browser, the provider is a different
//! site (D26).

use seven_domain::Role;

use super::driver::Browser;
use crate::console::{own_login::with_provider, staff::Staff};

#[tokio::test] // D26: the session's cookie is for calls from our own pages only
async fn a_host_comes_back_from_the_casinos_own_login() {
    let (house, provider) = with_provider("browser_own_login").await;
    let staff = Staff::new(&house);
    staff
        .invite("ana@silverbirch.example", Role::Host, Some(house.casino()))
        .await;
    let browser = Browser::start(&house).await;
    browser.page("/login").await;
    browser.is_accessible("login-own").await;
    browser.click("#main a[href='/login/with/silver']").await;
    browser.see("h1", "Now").await;
    assert!(provider.calls().contains(&"token"));
    // A person without an account sees a message and stays on the login page.
    browser.forget().await;
    provider.person("p-2", "eve@silverbirch.example");
    browser.page("/login").await;
    browser.click("#main a[href='/login/with/silver']").await;
    browser.see("#problem", "this console does not").await;
    browser.is_accessible("login-own-unknown").await;
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}
