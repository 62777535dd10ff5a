import { depositsThatVanish } from '../chaos/courses/deposits-that-vanish.ts'
import { testCourse } from './test-course.ts'

testCourse(depositsThatVanish)
