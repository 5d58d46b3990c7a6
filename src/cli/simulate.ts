// `outlast simulate`: a platform to practise on, until it is told to stop.
import { Command, InvalidArgumentError } from 'commander';
import { readDialect, switches } from '../simulator/dialect.ts';
import { faultSentences, type Faults, parseFault } from '../simulator/faults.ts';
import { createSimulator, demoProject, type SimulatorOptions } from '../simulator/server.ts';
import { instantIn } from '../simulator/times.ts';
import { settingsError } from '../errors.ts';
import { standardWorld } from '../simulator/world.ts';
import { stopOnSignals, stopped } from './signals.ts';
