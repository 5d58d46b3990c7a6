// Which form an answer takes: `format` goes before Accept, and where Accept allows none of what there is, that is said
// (406). Ours, for of what clients send the usual package (negotiator 1.1) refuses `application/json; charset=utf-8`,
// and a header of 4,000 ranges holds it up for 0.14 s.
import { Refused, refusal } from '../http-answers.ts';
import type { AnswerFormat, Form } from './route.ts';

export const mediaTypes: Record<Form | AnswerFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  sheet: 'text/csv; charset=utf-8; header=present',
  file: 'application/octet-stream',
  events: 'text/event-stream; charset=utf-8',
};
const nameOf = (form: Form): string => mediaTypes[form].split(';', 1)[0] ?? '';

/** The best of what is offered, the first where several are as good. Throws `Refused`. */
export function negotiated<Offer extends Form>(
  accept: string | undefined,
  offers: readonly [Offer, ...Offer[]],
): Offer {
  const ranges = (accept ?? '').split(',').flatMap(rangeOf);
  if (ranges.length === 0) return offers[0];
  const rated = offers
    .map((offer) => ({ offer, quality: qualityOf(nameOf(offer), ranges) }))
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  const [best] = rated;
  if (best !== undefined) return best.offer;
  throw new Refused(refusal(406, 'NOT_ACCEPTABLE', `there is: ${offers.map(nameOf).join(', ')}`));
}

type Range = { type: string; quality: number };

/** RFC 9110 §12.5.1; a range that cannot be read says nothing. */
function rangeOf(text: string): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return [];
  const q = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
  const quality = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 1;
  return [{ type, quality }];
}

/** That of the narrowest range that fits. */
function qualityOf(name: string, ranges: readonly Range[]): number {
  const [family] = name.split('/');
  for (const type of [name, `${family}/*`, '*/*']) {
    const found = ranges.filter((range) => range.type === type);
    if (found.length > 0) return Math.max(...found.map(({ quality }) => quality));
  }
  return 0;
}
