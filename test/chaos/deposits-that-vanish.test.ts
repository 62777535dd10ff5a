import { depositsThatVanish } from './suites/deposits-that-vanish.ts'
import { testCourse } from './test-suite.ts'

testCourse(depositsThatVanish)
