// Days as numbers, and times as the texts a platform may write. Pure. Days here are counted since
// 1970-01-01 (UTC): the world is indexed by them, and arithmetic on the hot path stays on numbers.
import { startOf } from '../day.ts';
import type { Day, Instant } from '../model.ts';

export const dayMs = 86_400_000;

/** A UTC day counted from 1970-01-01. */
export type DayNumber = number;

export const dayNumberOf = (at: Instant): DayNumber => Math.floor(at / dayMs);
export const dayNumber = (day: Day): DayNumber => startOf(day) / dayMs;

/** How a platform may spell a time; all in UTC. `mixed` takes one of the others by record. */
export const timeForms = ['rfc3339', 'fraction', 'space', 'go', 'mixed'] as const;
export type TimeForm = (typeof timeForms)[number];

const pad2 = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));
let lastDay = NaN;
let lastDayText = '';

/** The day's `yyyy-MM-dd`; the last one is remembered, for a page's records mostly share it. */
function dayText(day: DayNumber): string {
  if (day !== lastDay) {
    lastDayText = new Date(day * dayMs).toISOString().slice(0, 10);
    lastDay = day;
  }
  return lastDayText;
}

/** `variety` is the record's own number; it decides only where the form is `mixed`. */
export function writeTime(at: Instant, form: TimeForm, variety: number): string {
  const day = dayNumberOf(at);
  const ms = at - day * dayMs;
  const seconds = Math.floor(ms / 1000);
  const hour = pad2[Math.floor(seconds / 3600)] ?? '';
  const time = `${hour}:${pad2[Math.floor(seconds / 60) % 60]}:${pad2[seconds % 60]}`;
  const chosen = form === 'mixed' ? (timeForms[variety & 3] ?? form) : form;
  if (chosen === 'space') return `${dayText(day)} ${time}`;
  if (chosen === 'go') return `${dayText(day)} ${time} +0000 UTC`;
  if (chosen === 'rfc3339') return `${dayText(day)}T${time}Z`;
  return `${dayText(day)}T${time}.${String(fractionOf(ms, seconds)).padStart(3, '0')}Z`;
}

/** The world's times are whole seconds. A shared second keeps a shared fraction, so that order and ties stay. */
const fractionOf = (ms: number, seconds: number): number =>
  ms % 1000 === 0 ? (seconds * 7919) % 1000 : ms % 1000;

const readable =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(?: ?([+-]\d\d):?(\d\d)| ?Z| UTC)?/;

/** The instant in a text a test wrote; null if it is no time. */
export function instantIn(text: unknown): Instant | null {
  const parts = typeof text === 'string' ? readable.exec(text) : null;
  if (parts === null) return null;
  const [, day, time, fraction = '', hours = '+00', minutes = '00'] = parts;
  const at = Date.parse(`${day}T${time}${fraction}${hours}:${minutes}`);
  return Number.isNaN(at) ? null : at;
}
