import { moneroReorgs } from './suites/monero-reorgs.ts'
import { testSuite } from './test-suite.ts'

testSuite(moneroReorgs)
