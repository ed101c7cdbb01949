// A suggestion is said like a typed message.
document.addEventListener("click", ({ target }) => {
  const { say } = target.dataset ?? {};
  if (say) document.querySelector("seven-chat").say(say);
});
