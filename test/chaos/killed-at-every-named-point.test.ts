import { namedPoints } from './suites/named-points.ts'
import { testSuite } from './test-suite.ts'

testSuite(namedPoints)
