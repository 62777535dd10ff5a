import { operations } from '../chaos/courses/operations.ts'
import { testCourse } from './test-course.ts'

testCourse(operations)
