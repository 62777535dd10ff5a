import { races } from '../chaos/courses/races.ts'
import { testCourse } from './test-course.ts'

testCourse(races)
