export { faultPoint } from './fault-point';
export { botPoints, faultPoints, type FaultPoint } from './points';
