import { answersThatNeverCome } from '../chaos/courses/answers-that-never-come.ts'
import { testCourse } from './test-course.ts'

testCourse(answersThatNeverCome)
