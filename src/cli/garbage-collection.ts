// How this process collects garbage: V8's own measures suit programs that hold more and answer nobody. What it brings:
// docs/benchmarks.md.
import { setFlagsFromString } from 'node:v8';

/** Of 25 MB in use V8 would let 100 MB of garbage pile up before it collects. */
export const collectSooner = (): void => setFlagsFromString('--heap-growing-percent=60');

/**
 * For whoever answers: new objects stay in the one or two megabytes that they begin with. In the 16 that V8 would take,
 * one page in a hundred waits 10 ms for the collector. To be called before much is loaded, which already takes 16; on
 * Node's command line the flag does nothing.
 */
export const collectInSmallSteps = (): void => setFlagsFromString('--semi-space-growth-factor=1');
