import { answersThatNeverCome } from './suites/answers-that-never-come.ts'
import { testCourse } from './test-suite.ts'

testCourse(answersThatNeverCome)
