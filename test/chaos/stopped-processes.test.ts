import { stoppedProcesses } from './suites/stopped-processes.ts'
import { testSuite } from './test-suite.ts'

testSuite(stoppedProcesses)
