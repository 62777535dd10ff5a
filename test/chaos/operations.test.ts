import { operations } from './suites/operations.ts'
import { testSuite } from './test-suite.ts'

testSuite(operations)
