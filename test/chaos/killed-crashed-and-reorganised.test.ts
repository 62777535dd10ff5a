import { badWeather } from './suites/bad-weather.ts'
import { testSuite } from './test-suite.ts'

testSuite(badWeather)
