// The offer to archive what lies before the window, where the platform was seen to answer for it. A person decides.
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
