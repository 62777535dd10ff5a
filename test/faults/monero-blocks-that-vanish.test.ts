import { moneroBlocksThatVanish } from '../chaos/courses/monero-blocks-that-vanish.ts'
import { testCourse } from './test-course.ts'

testCourse(moneroBlocksThatVanish)
