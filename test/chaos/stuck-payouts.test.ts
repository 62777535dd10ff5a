import { stuckPayouts } from './suites/stuck-payouts.ts'
import { testSuite } from './test-suite.ts'

testSuite(stuckPayouts)
