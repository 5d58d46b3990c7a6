// @ts-check
// What a page does beyond being read: the arrow keys in the calendar, and showing again what has changed.

const main = /** @type {HTMLElement} */ (document.querySelector('main'));

/** Arrow keys go from day to day, and from list to list. */
document.addEventListener('keydown', (event) => {
  const cell = document.activeElement;
  if (!(cell instanceof HTMLAnchorElement) || !cell.classList.contains('cell')) return;
  const cells = [...main.querySelectorAll('a.cell')];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  let to = step === undefined ? undefined : cells[cells.indexOf(cell) + step];
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const lists = [...main.querySelectorAll('ul.days')];
    const list = lists.findIndex((one) => one.contains(cell));
    const place = [...(lists[list]?.children ?? [])].findIndex((one) => one.contains(cell));
    const next = lists[list + (event.key === 'ArrowDown' ? 1 : -1)];
    to = next?.children[place]?.querySelector('a') ?? undefined;
  }
  if (to instanceof HTMLElement) {
    event.preventDefault();
    to.focus();
  }
});

const events = document.body.dataset['live'];
if (events !== undefined) listen(events);

/** @param {string} address */
function listen(address) {
  const connection = /** @type {HTMLElement} */ (document.querySelector('#connection'));
  /** @type {string | null} */
  let shown = null;
  let isBusy = false;
  let isAgain = false;
  let isStale = false;
  open();

  function open() {
    const source = new EventSource(address);
    source.addEventListener('error', () => {
      stale();
      // The browser tries again by itself unless it was refused, as where too many listen.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 10_000);
    });
    // The service answers, and the archive does not.
    source.addEventListener('trouble', stale);
    source.addEventListener('progress', (event) => {
      /** @type {{ revision: string }} */
      const { revision } = JSON.parse(event.data);
      const isNew = isStale || (shown !== null && shown !== revision);
      shown = revision;
      if (isNew) void refresh();
    });
    addEventListener('pagehide', () => source.close());
  }

  /** Whoever looks on is told that what they see may be over. */
  function stale() {
    isStale = true;
    connection.textContent = connection.dataset['stale'] ?? '';
    connection.hidden = false;
  }

  /** The page again, in the place of what is shown; nobody loses their place in it. */
  async function refresh() {
    if (isBusy || document.hidden) {
      isAgain = true;
      return;
    }
    isBusy = true;
    isAgain = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      if (!answer.ok || answer.redirected) return stale();
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const next = fresh.querySelector('main');
      // Whoever is typing, or has something open, is not disturbed.
      if (next === null || main.contains(document.querySelector('input:focus, select:focus')))
        return;
      const focused = document.activeElement?.getAttribute('href');
      const opened = [...main.querySelectorAll('details')].map((one) => one.open);
      isStale = false;
      connection.hidden = true;
      main.replaceChildren(...next.childNodes);
      document.title = fresh.title;
      main.querySelectorAll('details').forEach((one, i) => (one.open = opened[i] ?? false));
      const again = focused && main.querySelector(`a[href="${CSS.escape(focused)}"]`);
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
      main.dispatchEvent(new Event('replaced'));
    } finally {
      // At most every two seconds, however much happens.
      setTimeout(() => {
        isBusy = false;
        if (isAgain) void refresh();
      }, 2000);
    }
  }
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && isAgain) void refresh();
  });
}
