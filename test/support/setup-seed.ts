import fc from 'fast-check'
import { seed } from './seed.ts'

/** Runs before each test file: its properties draw their cases with the seed of the run. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
