import { moneroBlocksThatVanish } from './suites/monero-blocks-that-vanish.ts'
import { testCourse } from './test-suite.ts'

testCourse(moneroBlocksThatVanish)
