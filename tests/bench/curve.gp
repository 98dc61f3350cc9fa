# SPDX-License-Identifier: GPL-2.0-or-later
# curve.gp - what best-effort gets, and how late the services are, as their load grows
#
# gnuplot -e "tsv='FILE'; columns='default schedd'" curve.gp >FILE.svg

set terminal svg size 1000,900 dynamic font 'sans-serif,13' background 'white'
set datafile separator "\t"
set multiplot layout 2,1
set xlabel 'load of the latency-critical services, % of the machine'
set xrange [0:100]
set grid
set key outside right top
set title 'CPU time of best-effort, % of the machine'
set yrange [0:100]
plot for [c in columns] tsv using (strcol(1) eq c ? $2 : NaN):3 with linespoints linewidth 2 title c, \
	100 - x with lines dashtype 2 linecolor rgb 'gray' title 'all that is left'
set title 'p99 of the first service, us'
set yrange [*:*]
set logscale y
plot for [c in columns] tsv using (strcol(1) eq c ? $2 : NaN):4 with linespoints linewidth 2 title c
unset multiplot
