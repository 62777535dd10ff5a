import { stuckPayouts } from './suites/stuck-payouts.ts'
import { testCourse } from './test-suite.ts'

testCourse(stuckPayouts)
