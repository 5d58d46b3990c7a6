// `/archive/v1/events`: what goes on, told when it changes (Server-Sent Events). Of each project there is one look
// every two seconds, for all who listen to it, and none while nobody does.
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectId } from '../../model.ts';
import { jsonText } from '../../query/record-text.ts';
import { progress as described } from '../../query/reports.ts';
import type { Archive } from '../../query/types.ts';
import { Refused, unavailable, type Answer } from '../http-answers.ts';

/** How often is looked, and how often a sign of life is given, milliseconds. */
export type EventTimes = { everyMs: number; aliveMs: number };
const eventTimes: EventTimes = { everyMs: 2000, aliveMs: 15_000 };

/** Each takes a connection and some memory. */
const mostListeners = 100;
/** Of one project, so that its readers leave places to the others'. */
export const mostOfOne = 50;

export type Events = ReturnType<typeof createEvents>;

/** What there is to be told, and what of it is no clock. */
type News = { seen: string; event: string };
/** Null before a run could enter the project. `until`: when the next look is due. */
type Look = { news: Promise<News | null>; until: number };

export function createEvents(
  archive: Pick<Archive, 'progress'>,
  answerOf: (error: unknown) => Answer,
  { everyMs, aliveMs }: EventTimes = eventTimes,
) {
  const listeners = new Map<Readable, { project: ProjectId; leaving: AbortController }>();
  const looks = new Map<ProjectId, Look>();
  let isClosed = false;

  async function newsOf(project: ProjectId, before: News | null): Promise<News | null> {
    try {
      const found = await archive.progress({ project });
      if (found === null) return before;
      const event = eventOf('progress', jsonText(found, Object.keys(described) as never[]));
      return { seen: JSON.stringify({ ...found, archiveNow: null }), event };
    } catch (error) {
      // One line in the log, however long it lasts.
      if (before?.seen === trouble) return before;
      return { seen: trouble, event: eventOf('trouble', String(answerOf(error).body)) };
    }
  }

  /** The newest, or a new one where that is over. While one is taken, nobody begins another. */
  function lookAt(project: ProjectId): Look {
    const known = looks.get(project);
    if (known !== undefined && performance.now() < known.until) return known;
    const before = known?.news ?? Promise.resolve(null);
    const look: Look = {
      until: Infinity,
      news: before
        .then((news) => newsOf(project, news))
        .finally(() => (look.until = performance.now() + everyMs)),
    };
    looks.set(project, look);
    return look;
  }

  /** Read as it is taken: whoever is slow is told how it is by then. P9: ends when they leave or the server stops. */
  async function* told(project: ProjectId, signal: AbortSignal): AsyncGenerator<string> {
    yield 'retry: 3000\n\n';
    let last: string | null = null;
    let at = performance.now();
    while (!signal.aborted) {
      const look = lookAt(project);
      const news = await look.news;
      if (news !== null && news.seen !== last) {
        last = news.seen;
        at = performance.now();
        yield news.event;
      } else if (performance.now() - at > aliveMs - everyMs) {
        at = performance.now();
        yield ': all is well\n\n';
      }
      const waitMs = Math.max(1, look.until - performance.now());
      await sleep(waitMs, null, { signal }).catch(() => null);
    }
  }

  return {
    /** Ends when the server stops, or when it is destroyed. Throws `Refused`, 503, when there are too many. */
    listen(project: ProjectId): Readable {
      if (isClosed) throw new Refused(unavailable('the server is stopping: try again later'));
      const ofProject = [...listeners.values()].filter((one) => one.project === project);
      if (listeners.size >= mostListeners || ofProject.length >= mostOfOne) {
        throw new Refused(unavailable('too many listen already: try again later'));
      }
      const leaving = new AbortController();
      const news = told(project, leaving.signal);
      const stream = new Readable({
        objectMode: true,
        highWaterMark: 1,
        read() {
          news.next().then(
            ({ value }) => this.push(value ?? null),
            (error: Error) => this.destroy(error),
          );
        },
        // At once: `Readable.from` would wait for what is told next, which may be a quarter of a minute.
        destroy(error, done) {
          leaving.abort();
          done(error);
        },
      });
      listeners.set(stream, { project, leaving });
      stream.once('close', () => {
        listeners.delete(stream);
        if (![...listeners.values()].some((one) => one.project === project)) looks.delete(project);
      });
      return stream;
    },
    close(): void {
      isClosed = true;
      for (const [stream, { leaving }] of listeners) {
        // Whoever takes nothing would keep the server.
        if (stream.readableLength > 0) stream.destroy();
        leaving.abort();
      }
    },
  };
}

const trouble = 'trouble';

/** JSON has no line break outside a text, and none inside. */
const eventOf = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;
