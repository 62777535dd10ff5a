import { races } from './suites/races.ts'
import { testCourse } from './test-suite.ts'

testCourse(races)
