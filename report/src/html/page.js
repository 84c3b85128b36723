// What the page does without this: everything but the keys. Links that lead into a closed part open it.
'use strict';
(() => {
  const open = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at) return;
    for (let up = at; up; up = up.parentElement) if (up.localName === 'details') up.open = true;
    at.scrollIntoView({ block: at.localName === 'tr' ? 'center' : 'start' });
  };
  addEventListener('hashchange', open);
  open();
  const column = () => document.querySelector('input[name=metric]:checked').dataset.column;
  const hot = () => [...document.querySelectorAll('.src td.' + column())]
    .filter((cell) => /[1-9?]/.test(cell.textContent))
    .map((cell) => cell.parentElement);
  const go = (step) => {
    const lines = hot();
    if (!lines.length) return;
    const now = document.querySelector('.src tr:target');
    let next = step > 0 ? 0 : lines.length - 1;
    if (now) {
      const after = (line) => now.compareDocumentPosition(line) & (step > 0 ? 4 : 2);
      const found = step > 0 ? lines.findIndex(after) : lines.findLastIndex(after);
      if (found >= 0) next = found;
    }
    location.replace('#' + lines[next].id);
  };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'n') go(1);
    if (event.key === 'p') go(-1);
  });
})();
