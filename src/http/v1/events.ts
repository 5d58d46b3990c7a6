// `/archive/v1/events`: what goes on, told when it changes (Server-Sent Events). Of each project there is one look
// every two seconds, for all who listen to it, and none while nobody does.
import { Readable } from 'node:stream';
import type { ProjectId } from '../../model.ts';
import { jsonText } from '../../query/record-text.ts';
import { progress as described, type Progress } from '../../query/reports.ts';
import type { Archive } from '../../query/types.ts';
import { Refused, unavailable, type Answer } from '../http-answers.ts';

/** How often is looked, and how often a sign of life is given, milliseconds. */
export type EventTimes = { everyMs: number; aliveMs: number };
export const eventTimes: EventTimes = { everyMs: 2000, aliveMs: 15_000 };

/** Each takes a connection and some memory. */
const mostListeners = 100;
/** Of one project, so that its readers leave places to the others'. */
export const mostOfOne = 50;

export type Events = {
  /** Ends when the server stops, or when it is destroyed. Throws `Refused`, 503, when there are too many. */
  listen(project: ProjectId): Readable;
  close(): void;
};

type Listener = {
  stream: Readable;
  /** What it was told last; null: nothing yet. */
  told: string | null;
};

type Topic = {
  listeners: Set<Listener>;
  /** What there is to be told; null before the first look, and before a run could enter the project. */
  told: string | null;
  /** The event that tells it. */
  event: string;
};

export function createEvents(
  archive: Pick<Archive, 'progress'>,
  answerOf: (error: unknown) => Answer,
  { everyMs, aliveMs }: EventTimes = eventTimes,
): Events {
  const topics = new Map<ProjectId, Topic>();
  const timers = new Map<ProjectId, NodeJS.Timeout>();
  let isClosed = false;
  let alive: NodeJS.Timeout | null = null;
  const listeners = (): Listener[] => [...topics.values()].flatMap((one) => [...one.listeners]);

  /** P9: ends with the last listener, or when the server stops. */
  async function look(project: ProjectId, topic: Topic): Promise<void> {
    try {
      const found = await archive.progress({ project });
      if (found !== null) {
        topic.told = whatIsSeen(found);
        topic.event = eventOf('progress', jsonText(found, Object.keys(described) as never[]));
      }
    } catch (error) {
      // One line in the log, however long it lasts.
      if (topic.told !== trouble) topic.event = eventOf('trouble', String(answerOf(error).body));
      topic.told = trouble;
    }
    for (const listener of topic.listeners) tell(listener, topic);
    if (topics.get(project) !== topic) return;
    timers.set(
      project,
      setTimeout(() => void look(project, topic), everyMs),
    );
  }

  function leave(project: ProjectId, topic: Topic, listener: Listener): void {
    topic.listeners.delete(listener);
    if (topic.listeners.size > 0 || topics.get(project) !== topic) return;
    topics.delete(project);
    clearTimeout(timers.get(project));
    timers.delete(project);
    if (topics.size > 0 || alive === null) return;
    clearInterval(alive);
    alive = null;
  }

  return {
    listen(project) {
      if (isClosed) throw new Refused(unavailable('the server is stopping: try again later'));
      const ofProject = topics.get(project)?.listeners.size ?? 0;
      if (listeners().length >= mostListeners || ofProject >= mostOfOne) {
        throw new Refused(unavailable('too many listen already: try again later'));
      }
      const known = topics.get(project);
      const topic: Topic = known ?? { listeners: new Set(), told: null, event: '' };
      const listener: Listener = { stream: new Readable({ read: () => undefined }), told: null };
      topics.set(project, topic);
      topic.listeners.add(listener);
      listener.stream.push('retry: 3000\n\n');
      listener.stream.once('close', () => leave(project, topic, listener));
      alive ??= setInterval(() => {
        for (const one of listeners()) if (isTaking(one)) one.stream.push(': all is well\n\n');
      }, aliveMs);
      if (known === undefined) void look(project, topic);
      else if (topic.told !== null) push(listener, topic);
      return listener.stream;
    },
    close() {
      isClosed = true;
      // Whoever takes nothing would keep the server.
      for (const one of listeners()) {
        if (isTaking(one)) one.stream.push(null);
        else one.stream.destroy();
      }
    },
  };
}

const trouble = 'trouble';

/** What has not been taken yet is not added to: the next look tells how it is by then. */
const isTaking = ({ stream }: Listener): boolean => stream.readableLength === 0;

function tell(listener: Listener, topic: Topic): void {
  if (topic.told === null || topic.told === listener.told) return;
  if (listener.told === null || isTaking(listener)) push(listener, topic);
}

function push(listener: Listener, topic: Topic): void {
  listener.told = topic.told;
  listener.stream.push(topic.event);
}

/** JSON has no line break outside a text, and none inside. */
const eventOf = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

/** The clock goes on by itself. */
const whatIsSeen = (progress: Progress): string =>
  JSON.stringify({ ...progress, archiveNow: null });
