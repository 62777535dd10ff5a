import { badWeather } from './suites/bad-weather.ts'
import { testCourse } from './test-suite.ts'

testCourse(badWeather)
