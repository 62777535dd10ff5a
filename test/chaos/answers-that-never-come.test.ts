import { answersThatNeverCome } from './suites/answers-that-never-come.ts'
import { testSuite } from './test-suite.ts'

testSuite(answersThatNeverCome)
