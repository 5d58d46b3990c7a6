// Which slices have had their turn within a run, and which may come again: every slice once, and today's again every
// minute while others are worked on, so that a run of hours does not starve its tail. The order is nextSlice's
// (store/due.ts). Knows no database; the clock is asked, never waited for.
import { minuteMs } from '../day.ts';
import type { Instant, SliceKey } from '../model.ts';

/** Today's tail is read again this long after it was begun. */
const everyMs = minuteMs;
/** It rests this many times as long as it took, so that at a slow rate it starves no other slice either. */
const restFactor = 4;
/** But no longer than this after its end. */
const restAtMostMs = 15 * minuteMs;

export type SliceQueue = {
  /** Slices that may not be claimed now. */
  except(): SliceKey[];
  /** Call it with what was claimed; `isToday` while the slice's day lasts. */
  begin(slice: SliceKey, isToday: boolean): void;
  /** Call it when the act is over; returns whether this was the slice's first turn in the run. */
  end(slice: SliceKey): boolean;
  /**
   * Whether someone who finds nothing to claim should look again later: others are at work, and today's tail goes on.
   */
  isWorthWaiting(): boolean;
  /** Whether there may be something to claim that was not claimable at the last look. */
  isReady(): boolean;
  /** Every slice that had a turn. */
  handled(): SliceKey[];
};

type Turn = {
  slice: SliceKey;
  isToday: boolean;
  isUnderWay: boolean;
  turns: number;
  beganAt: Instant;
  /** When it may be claimed again; only today's are. */
  againAt: Instant;
  /** How many slices had had their first turn when this one was claimed last. */
  firstsBefore: number;
};

export function createSliceQueue(now: () => Instant): SliceQueue {
  const turns = new Map<string, Turn>();
  /** First turns of slices other than today's. */
  let firsts = 0;
  const nameOf = ({ resource, owner, day }: SliceKey): string => `${resource} ${owner} ${day}`;
  const othersUnderWay = (): boolean =>
    [...turns.values()].some((turn) => turn.isUnderWay && !turn.isToday);

  // The run ends (P9): today's has another turn only while another slice is worked on, or once for each that was
  // claimed since; and those are claimed once each.
  const isAllowed = (turn: Turn, isWorking: boolean): boolean =>
    turn.isToday &&
    !turn.isUnderWay &&
    now() >= turn.againAt &&
    (isWorking || firsts > turn.firstsBefore);

  return {
    except: () => {
      const isWorking = othersUnderWay();
      return [...turns.values()]
        .filter((turn) => !isAllowed(turn, isWorking))
        .map(({ slice }) => slice);
    },
    begin: (slice, isToday) => {
      const before = turns.get(nameOf(slice))?.turns ?? 0;
      if (before === 0 && !isToday) firsts += 1;
      turns.set(nameOf(slice), {
        slice,
        isToday,
        isUnderWay: true,
        turns: before + 1,
        beganAt: now(),
        againAt: Infinity,
        firstsBefore: firsts,
      });
    },
    end: (slice) => {
      const turn = turns.get(nameOf(slice));
      if (turn === undefined) return false;
      const at = now();
      // A clock that was set back in between counts as no time at all.
      const tookMs = Math.max(0, at - turn.beganAt);
      turn.isUnderWay = false;
      turn.againAt = at + Math.min(restAtMostMs, Math.max(everyMs - tookMs, restFactor * tookMs));
      return turn.turns === 1;
    },
    isWorthWaiting: () => othersUnderWay() && [...turns.values()].some((turn) => turn.isToday),
    isReady: () => [...turns.values()].some((turn) => isAllowed(turn, othersUnderWay())),
    handled: () => [...turns.values()].map(({ slice }) => slice),
  };
}
