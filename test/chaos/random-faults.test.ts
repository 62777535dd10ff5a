import { randomFaults } from './suites/random-faults.ts'
import { testSuite } from './test-suite.ts'

testSuite(randomFaults)
