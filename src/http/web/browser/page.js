// @ts-check
// What a page does beyond being read: one stop and the arrow keys in the calendar, and showing again what has changed.

const main = /** @type {HTMLElement} */ (document.querySelector('main'));

const cells = () => /** @type {HTMLAnchorElement[]} */ ([...main.querySelectorAll('a.cell')]);

/**
 * The calendar is one stop of the Tab key: the day that had the focus last, or else the first.
 *
 * @param {Element} [stop]
 */
function enterAt(stop) {
  const all = cells();
  const one = all.find((cell) => cell === stop) ?? all[0];
  for (const cell of all) {
    cell.tabIndex = cell === one ? 0 : -1;
    cell.setAttribute('aria-describedby', 'keys');
  }
}
enterAt();
main.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLAnchorElement && target.matches('a.cell')) enterAt(target);
});

/** The arrow keys go from day to day, and from list to list; Home and End to the ends of a month. */
document.addEventListener('keydown', (event) => {
  const cell = document.activeElement;
  if (!(cell instanceof HTMLAnchorElement) || !cell.matches('a.cell')) return;
  const lists = [...main.querySelectorAll('ul.days:has(a.cell)')];
  const list = lists.findIndex((one) => one.contains(cell));
  const ofList = [...(lists[list]?.querySelectorAll('a.cell') ?? [])];
  const beside = (/** @type {number} */ days) => {
    const at = new Date(`${cell.dataset['day']}T00:00:00Z`);
    at.setUTCDate(at.getUTCDate() + days);
    const resource = cell.pathname.split('/').at(-2);
    return `a.cell[data-day="${at.toISOString().slice(0, 10)}"][href*="/days/${resource}/"]`;
  };
  const below = (/** @type {number} */ step) => {
    const place = [...(lists[list]?.children ?? [])].findIndex((one) => one.contains(cell));
    return lists[list + step]?.children[place]?.querySelector('a');
  };
  /** @type {Record<string, () => Element | null | undefined>} */
  const ways = {
    ArrowRight: () => main.querySelector(beside(1)),
    ArrowLeft: () => main.querySelector(beside(-1)),
    ArrowDown: () => below(1),
    ArrowUp: () => below(-1),
    Home: () => ofList[0],
    End: () => ofList.at(-1),
  };
  const to = ways[event.key]?.();
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
      const isUnfolded = main.querySelector('#fold:checked') !== null;
      isStale = false;
      connection.hidden = true;
      main.replaceChildren(...next.childNodes);
      document.title = fresh.title;
      main.querySelectorAll('details').forEach((one, i) => (one.open = opened[i] ?? false));
      const fold = main.querySelector('#fold');
      if (fold instanceof HTMLInputElement) fold.checked = isUnfolded;
      const again = focused && main.querySelector(`a[href="${CSS.escape(focused)}"]`);
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
      enterAt(document.activeElement ?? undefined);
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
