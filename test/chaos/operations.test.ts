import { operations } from './suites/operations.ts'
import { testCourse } from './test-suite.ts'

testCourse(operations)
