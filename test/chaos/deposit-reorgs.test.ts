import { depositReorgs } from './suites/deposit-reorgs.ts'
import { testSuite } from './test-suite.ts'

testSuite(depositReorgs)
