import { namedPoints } from './suites/named-points.ts'
import { testCourse } from './test-suite.ts'

testCourse(namedPoints)
