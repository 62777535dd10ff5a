import { badWeather } from '../chaos/courses/bad-weather.ts'
import { testCourse } from './test-course.ts'

testCourse(badWeather)
