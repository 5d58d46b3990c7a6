// What was observed of the platform, for people, and the offer to archive what lies before its window where it was seen
// to answer for that: a person decides.
import { listedResources } from '../model.ts';

/** A sentence for each resource whose older days are answered; `from` is the first day held of it, where any is. */
export function olderOffers(
  facts: Record<string, string>,
  firstDayOf: (resource: string) => string | undefined = () => undefined,
): string[] {
  return listedResources.flatMap((resource) => {
    const oldest = facts[`${resource}.oldest_day`];
    if (facts[`${resource}.older_days`] !== 'answered' || oldest === undefined) return [];
    const first = firstDayOf(resource);
    // The month stands for its days: within it nothing more is offered.
    if (first !== undefined && first.slice(0, 7) <= oldest.slice(0, 7)) return [];
    return [
      `The platform answers for ${resource} before its window too, back to ${oldest}. To archive them: outlast sync --resource ${resource} --from ${oldest}`,
    ];
  });
}

/** The facts by resource: `orders: limit 50, totals present`. */
export function factLines(facts: Record<string, string>): string[] {
  const byResource = new Map<string, string[]>();
  for (const [fact, value] of Object.entries(facts)) {
    const [resource = '', name = ''] = fact.split('.');
    byResource.set(resource, [...(byResource.get(resource) ?? []), `${name} ${value}`]);
  }
  if (byResource.size === 0) return [];
  return [
    '',
    '  Observed of the platform',
    ...[...byResource].map(([resource, known]) => `    ${resource}: ${known.join(', ')}`),
  ];
}
