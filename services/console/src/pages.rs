//! The pages, one file each, and the routes to them.

pub(crate) mod admin;
mod audit;
mod campaign_new;
mod campaigns;
mod cases;
mod compliance;
mod contacts;
mod content;
mod content_form;
mod content_item;
mod content_rollback;
mod content_set;
mod content_together;
mod content_try;
mod conversations;
mod dead;
mod dead_letter;
mod evidence;
mod figures;
mod flags;
mod gaps;
mod held;
mod home;
mod incidents;
mod link;
mod login;
mod login_with;
mod notice;
mod now;
mod operators;
mod profile;
mod saved_replies;
mod say;
mod shift;
mod switches;
mod thread;
mod turn;
mod upload;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    routing::{get, post},
};

use crate::app::Shared;

pub(crate) fn routes() -> Router<Shared> {
    let thread = "/c/{casino}/conversations/{conversation}";
    let below = |path: &str| format!("{thread}/{path}");
    Router::new()
        .route("/", get(home::show))
        .route("/login", get(login::show).post(login::password))
        .route("/login/code", get(login::show_code).post(login::code))
        .route("/login/with/{id}", get(login_with::begin))
        .route("/login/with/{id}/done", get(login_with::done))
        .route("/logout", post(login::out))
        .route("/link/{token}", get(link::show).post(link::save))
        .route(
            "/n/{casino}/{token}",
            get(notice::show).post(notice::acknowledge),
        )
        .route("/operators", get(operators::show).post(operators::add))
        .route("/operators/{operator}", post(operators::change))
        .route("/c/{casino}/conversations", get(conversations::show))
        .route("/c/{casino}/conversations/list", get(conversations::list))
        .route("/c/{casino}/conversations/shift", post(shift::all))
        .route(
            "/c/{casino}/replies",
            get(saved_replies::show).post(saved_replies::change),
        )
        .route("/c/{casino}/count", get(cases::count))
        .route("/c/{casino}/now", get(now::show))
        .route("/c/{casino}/now/part", get(now::fresh))
        .route(
            "/c/{casino}/switches",
            get(switches::show).post(switches::turn),
        )
        .route("/c/{casino}/flags", post(flags::set))
        .route("/c/{casino}/stream", get(home::stream))
        .route("/c/{casino}/measure", post(say::measure))
        .route("/c/{casino}/cases", get(cases::show))
        .route("/c/{casino}/cases/list", get(cases::list))
        .route("/c/{casino}/cases/{case}", post(cases::handle))
        .route("/c/{casino}/audit", get(audit::show))
        .route("/c/{casino}/audit/export", post(audit::export))
        .route("/c/{casino}/audit/days/{day}", post(compliance::day))
        .route("/c/{casino}/compliance", get(compliance::show))
        .route("/c/{casino}/compliance/find", post(compliance::find))
        .route("/c/{casino}/guests/{guest}/consent", get(evidence::show))
        .route("/c/{casino}/campaigns", get(campaigns::show))
        .route(
            "/c/{casino}/campaigns/new",
            get(campaign_new::show).post(campaign_new::plan),
        )
        .route("/c/{casino}/campaigns/{campaign}", post(campaigns::change))
        .route("/c/{casino}/dead", get(dead::show).post(dead::order))
        .route("/c/{casino}/dead/list", get(dead::list))
        .route("/c/{casino}/dead/{letter}", get(dead_letter::show))
        .route(
            "/c/{casino}/contacts",
            get(contacts::show).post(contacts::add),
        )
        .route("/c/{casino}/contacts/{contact}", post(contacts::change))
        .route("/c/{casino}/content", get(content::show))
        .route("/c/{casino}/content/new", get(content_item::new))
        .route("/c/{casino}/content/save", post(content_item::store))
        .route("/c/{casino}/content/check", post(content_try::check))
        .route("/c/{casino}/content/ask", post(content_try::ask))
        .route("/c/{casino}/content/gaps", get(gaps::show))
        .route(
            "/c/{casino}/content/rollback",
            get(content_rollback::show).post(content_rollback::restore),
        )
        .route(
            "/c/{casino}/content/set",
            get(content_set::show).post(content_set::change),
        )
        .route(
            "/c/{casino}/content/together",
            get(content_together::show).post(content_together::publish),
        )
        .route(
            "/c/{casino}/content/upload",
            get(upload::show)
                .post(upload::check)
                .layer(DefaultBodyLimit::max(upload::MOST_BYTES)),
        )
        .route(
            "/c/{casino}/content/template/{category}",
            get(upload::template),
        )
        .route(
            "/c/{casino}/content/upload/load",
            get(upload::again).post(upload::agree),
        )
        .route("/c/{casino}/content/items/{item}", get(content_item::show))
        .route(
            "/c/{casino}/content/items/{item}/decide",
            post(content_item::decide),
        )
        .route("/c/{casino}/figures", get(figures::show))
        .route("/c/{casino}/figures.csv", get(figures::download))
        .route("/c/{casino}/held", get(held::show))
        .route("/c/{casino}/held/list", get(held::list))
        .route("/c/{casino}/held/{turn}", post(held::change))
        .route("/c/{casino}/incidents", get(incidents::show))
        .route("/c/{casino}/incidents/{incident}", post(incidents::change))
        .route(thread, get(thread::show))
        .route(&below("turns/{turn}"), get(turn::show))
        .route(&below("texts"), get(thread::texts))
        .route(&below("consent"), get(evidence::of_conversation))
        .route(&below("takeover"), post(thread::take_over))
        .route(&below("release"), post(thread::release))
        .route(&below("review"), post(held::review))
        .route(&below("reveal"), post(thread::reveal))
        .route(&below("notes"), post(thread::add_note))
        .route(&below("say"), post(say::say))
        .route(&below("insert"), post(saved_replies::insert))
        .route(&below("profile"), post(profile::change))
        .route(&below("handon"), post(shift::one))
}
