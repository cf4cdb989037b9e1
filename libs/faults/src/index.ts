export { faultPoint } from './fault-point';
export { faultPoints, type FaultPoint } from './points';
