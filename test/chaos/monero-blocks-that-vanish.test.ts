import { moneroBlocksThatVanish } from './suites/monero-blocks-that-vanish.ts'
import { testSuite } from './test-suite.ts'

testSuite(moneroBlocksThatVanish)
