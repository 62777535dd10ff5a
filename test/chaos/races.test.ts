import { races } from './suites/races.ts'
import { testSuite } from './test-suite.ts'

testSuite(races)
