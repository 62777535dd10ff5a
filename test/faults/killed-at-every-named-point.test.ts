import { namedPoints } from '../chaos/courses/named-points.ts'
import { testCourse } from './test-course.ts'

testCourse(namedPoints)
