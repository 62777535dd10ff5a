import { depositsThatVanish } from './suites/deposits-that-vanish.ts'
import { testSuite } from './test-suite.ts'

testSuite(depositsThatVanish)
