import { checkpointKills } from './suites/checkpoint-kills.ts'
import { testSuite } from './test-suite.ts'

testSuite(checkpointKills)
