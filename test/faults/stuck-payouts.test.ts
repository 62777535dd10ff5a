import { stuckPayouts } from '../chaos/courses/stuck-payouts.ts'
import { testCourse } from './test-course.ts'

testCourse(stuckPayouts)
