import { unansweredRequests } from './suites/unanswered-requests.ts'
import { testSuite } from './test-suite.ts'

testSuite(unansweredRequests)
